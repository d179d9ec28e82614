"""The learners where users already are: as classifiers of River and of scikit-learn."""
