"""The PC side of microshrub: data sets, engines, evaluation, RAM budgets, tuning and reports."""
