"""The learners as classifiers of River and of scikit-learn."""
