import os


def handler(event, context):
    return {"statusCode": 200, "body": os.environ["GREETING"]}
