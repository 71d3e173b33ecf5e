"""The object that makes an output in an object store finished, put only where none is there.

S3 has such a write (``If-None-Match: *``). pyarrow sends no condition with a write, so boto3 does
it where it is installed: the extra ``s3``.
"""

import importlib.util
from typing import Any
from urllib.parse import unquote, urlsplit

# S3 refuses: an object is there, or another one was being put or deleted at that moment
_REFUSED = {"PreconditionFailed", "ConditionalRequestConflict"}


def can_put_new(store: Any) -> bool:
    """Return whether a write to a store of pyarrow.fs can fail where an object is there."""
    return store.type_name == "s3" and importlib.util.find_spec("boto3") is not None


def put_new(store: Any, path: str, url: str, content: bytes) -> bool:
    """Put an object unless one is there; of several that do so at once, one succeeds.

    Address and credentials come from the environment, as those of pyarrow do.

    :param store: for which :func:`can_put_new`; ``path`` of the object in it.
    :param url: of its output, which may hold credentials.
    :returns: whether it was put; False: another is there, or was on its way.
    :raises OSError: the store cannot be reached or used, or has no such write.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    given = urlsplit(url)
    bucket, _, key = path.partition("/")
    try:
        client = boto3.client(
            "s3",
            region_name=store.region,
            aws_access_key_id=given.username and unquote(given.username),
            aws_secret_access_key=given.password and unquote(given.password),
        )
        client.put_object(Bucket=bucket, Key=key, Body=content, IfNoneMatch="*")
    except ClientError as error:
        if error.response["Error"]["Code"] in _REFUSED:
            return False
        raise OSError(str(error)) from error
    except BotoCoreError as error:
        raise OSError(str(error)) from error
    return True
