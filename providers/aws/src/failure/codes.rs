//! What each code of AWS means: the one table.
//!
//! The same word can mean different things: what a service says along with it decides then, so rows that look at it
//! stand first. Whatever is not in the table is judged by its status.

/// What a failure is about, of what AWS can answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Retryable,
    Throttled,
    NotFound,
    AlreadyExists,
    Conflict,
    Denied,
    Invalid,
    Fatal,
}

/// A class, and what to do about it; empty if there is nothing to say beyond the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Meaning {
    pub(super) class: Class,
    pub(super) hint: &'static str,
}

/// Codes that mean the same, if AWS says something that contains `says`.
struct Row {
    codes: &'static [&'static str],
    says: &'static str,
    meaning: Meaning,
}

const fn row(codes: &'static [&'static str], class: Class, hint: &'static str) -> Row {
    Row { codes, says: "", meaning: Meaning { class, hint } }
}

const fn saying(codes: &'static [&'static str], says: &'static str, class: Class, hint: &'static str) -> Row {
    Row { codes, says, meaning: Meaning { class, hint } }
}

const IAM_SPREADS: &str = "a new role takes some seconds to be known everywhere; if this stays, its trust policy does \
                           not let the service assume it";
const REGION: &str = "set `region` of the provider, or AWS_REGION, to the region where the object is";
const RENEW: &str = "the credentials have expired: sign in again (`aws sso login`, or whatever issued them)";
const CREDENTIALS: &str = "these credentials are not valid here: check AWS_PROFILE, AWS_ACCESS_KEY_ID, or `profile` of \
                           the provider";
const ALLOW: &str = "let the credentials' user or role do this, or use others";
const NAME_TAKEN: &str = "bucket names are unique in the world: choose another `bucket`, or leave it out";

#[rustfmt::skip]
const TABLE: &[Row] = &[
    // A role that was just made is not known everywhere at once.
    saying(&["InvalidParameterValueException"], "cannot be assumed by Lambda", Class::Retryable, IAM_SPREADS),
    saying(&["InvalidParameterValueException"], "execution role does not have permissions", Class::Retryable, IAM_SPREADS),
    saying(&["MalformedPolicy", "InvalidAttributeValue", "InvalidParameterValue"], "rincipal", Class::Retryable,
        "a new role takes some seconds to be known everywhere; if this stays, the policy's principal does not exist"),
    saying(&["MalformedPolicyDocument"], "Invalid principal", Class::Retryable,
        "a new role takes some seconds to be known everywhere; if this stays, the policy's principal does not exist"),
    // Two meanings of one code.
    saying(&["ValidationException"], "modified multiple times within a fixed interval", Class::Conflict,
        "DynamoDB lets an hour pass between two changes of `ttl_attribute`: deploy again then"),
    saying(&["ResourceInUseException"], "already exists", Class::AlreadyExists, ""),
    saying(&["ResourceInUseException"], "Table already", Class::AlreadyExists, ""),
    saying(&["ResourceConflictException"], "already exist", Class::AlreadyExists, ""),
    saying(&["ConflictException"], "already exist", Class::AlreadyExists, ""),
    saying(&["ConflictException"], "currently being modified", Class::Retryable, ""),

    row(&["Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestThrottledException",
        "TooManyRequestsException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "SlowDown",
        "BandwidthLimitExceeded", "PriorRequestNotComplete", "TransactionInProgressException"],
        Class::Throttled, ""),

    row(&["InternalError", "InternalFailure", "InternalServerError", "InternalServiceError", "ServiceException",
        "ServiceFailure", "ServiceFailureException", "ServiceUnavailable", "ServiceUnavailableException",
        "RequestTimeout", "RequestTimeoutException", "ConcurrentModification", "ConcurrentModificationException",
        "OperationAborted", "OperationAbortedException", "ResourceInUseException", "ResourceConflictException",
        "ResourceNotReadyException", "LimitExceededException", "EntityTemporarilyUnmodifiable",
        "DependencyTimeoutException", "KeyUnavailableException", "KMSInternalException"],
        Class::Retryable, ""),
    row(&["AWS.SimpleQueueService.QueueDeletedRecently", "QueueDeletedRecently"], Class::Retryable,
        "a queue's name can be used again a minute after it was deleted"),

    row(&["NoSuchBucket", "NoSuchEntity", "NoSuchEntityException", "ResourceNotFoundException", "NotFoundException",
        "NotFound", "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", "TableNotFoundException"],
        Class::NotFound, ""),

    row(&["BucketAlreadyExists"], Class::AlreadyExists, NAME_TAKEN),
    row(&["BucketAlreadyOwnedByYou", "QueueNameExists", "QueueAlreadyExists", "EntityAlreadyExists",
        "EntityAlreadyExistsException", "ResourceAlreadyExistsException", "TableAlreadyExistsException"],
        Class::AlreadyExists, ""),

    row(&["BucketNotEmpty"], Class::Conflict,
        "empty the bucket; or set `force_destroy = true` while it is still declared, to delete what is in it too"),
    row(&["DeleteConflict", "DeleteConflictException"], Class::Conflict,
        "detach it from what uses it outside this stack, then run again"),
    row(&["DisabledException", "KMSInvalidStateException"], Class::Conflict, "enable the key, or cancel its deletion"),
    row(&["ConflictException", "InvalidBucketState", "CodeVerificationFailedException", "PreconditionFailedException"],
        Class::Conflict, ""),

    row(&["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired"], Class::Denied, RENEW),
    row(&["InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId", "SignatureDoesNotMatch",
        "InvalidSignatureException", "IncompleteSignature", "IncompleteSignatureException", "MissingAuthenticationToken",
        "MissingAuthenticationTokenException", "InvalidToken", "AuthFailure", "InvalidSecurity"],
        Class::Denied, CREDENTIALS),
    row(&["RequestTimeTooSkewed"], Class::Denied, "the clock of this machine is wrong"),
    row(&["OptInRequired", "AccountProblem", "NotSignedUp", "SubscriptionRequiredException"], Class::Denied,
        "the account is not ready for this service or region"),
    row(&["AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "UnauthorizedException",
        "AuthorizationErrorException", "ForbiddenException", "AllAccessDisabled", "KMSAccessDeniedException",
        "UnauthorizedAccess"], Class::Denied, ALLOW),

    row(&["PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException",
        "InvalidLocationConstraint", "InvalidRegion", "IllegalLocationConstraint"], Class::Invalid, REGION),
    row(&["MalformedPolicy", "MalformedPolicyDocument", "MalformedPolicyDocumentException", "PolicyLengthExceededException"],
        Class::Invalid, "write the policy with `jsonencode`, and check its actions, resources and principals"),
    row(&["IncorrectKeyException", "InvalidCiphertextException", "InvalidKeyUsageException"], Class::Invalid, ""),
    row(&["InvalidParameterValue", "InvalidParameterValueException", "InvalidParameterException",
        "InvalidParameterCombination", "InvalidAttributeValue", "InvalidAttributeName", "InvalidBucketName",
        "InvalidInput", "InvalidRequest", "InvalidArgument", "InvalidTag", "BadRequestException", "ValidationError",
        "ValidationException", "MissingParameter", "MissingRequiredParameterException", "MalformedXML",
        "InvalidRequestContentException", "UnsupportedMediaTypeException", "RequestTooLargeException",
        "InvalidZipFileException", "InvalidRuntimeException", "InvalidAddress", "UnsupportedOperation",
        "OverLimit", "LimitExceeded", "CodeStorageExceededException", "TooManyBuckets", "TooManyTagsException"],
        Class::Invalid, ""),
];

/// What a code means, or a status where the table does not know the code.
pub(super) fn meaning(code: &str, said: &str, status: u16) -> Meaning {
    // JSON protocols qualify the code with the service's namespace.
    let code = code.rsplit('#').next().unwrap_or(code);
    let known = TABLE.iter().find(|row| row.codes.contains(&code) && said.contains(row.says));
    known.map_or_else(|| of_status(status), |row| row.meaning)
}

fn of_status(status: u16) -> Meaning {
    let class = match status {
        // All that S3 says of a bucket that is elsewhere, where only the head of an answer is asked for.
        301 | 307 => return Meaning { class: Class::Invalid, hint: REGION },
        404 => Class::NotFound,
        401 | 403 => Class::Denied,
        409 => Class::Conflict,
        408 | 500 | 502..=504 => Class::Retryable,
        429 => Class::Throttled,
        400 | 405..=428 => Class::Invalid,
        _ => Class::Fatal,
    };
    Meaning { class, hint: "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RETRY-1
    #[test]
    fn a_code_means_what_aws_says_with_it() {
        let class = |code, said| meaning(code, said, 400).class;
        let lambda = "The role defined for the function cannot be assumed by Lambda.";
        assert_eq!(class("InvalidParameterValueException", lambda), Class::Retryable);
        assert_eq!(class("InvalidParameterValueException", "1 validation error"), Class::Invalid);
        assert_eq!(
            class("com.amazonaws.dynamodb.v20120810#ResourceInUseException", "being updated"),
            Class::Retryable
        );
        assert_eq!(class("ResourceInUseException", "Table already exists: jobs"), Class::AlreadyExists);
    }

    /// RETRY-1
    #[test]
    fn what_the_table_does_not_know_is_judged_by_its_status() {
        assert_eq!(meaning("Teapot", "", 503).class, Class::Retryable);
        assert_eq!(meaning("", "", 403).class, Class::Denied);
        assert_eq!(meaning("", "", 418).class, Class::Invalid);
        assert_eq!(meaning("", "", 301).hint, REGION);
    }

    #[test]
    fn no_code_stands_in_two_rows_that_say_nothing_more() {
        let mut seen = std::collections::BTreeSet::new();
        for row in TABLE.iter().filter(|row| row.says.is_empty()) {
            for code in row.codes {
                assert!(seen.insert(code), "{code} stands there twice");
            }
        }
    }
}
