import os


def handler(event, context):
    """Tells where the work comes from and where it goes."""
    names = ["JOBS_URL", "RESULTS_NAME", "COUNTS_NAME"]
    return {name: os.environ.get(name) for name in names}
