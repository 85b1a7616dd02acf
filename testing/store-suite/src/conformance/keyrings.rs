//! Keyrings: kept beside the records, never overwritten by someone who did not know them.

use trueup_state::Scope;

use super::StoreUnderTest;
use super::samples::scope;

pub(super) async fn a_keyring_is_replaced_only_by_who_knows_it(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    assert_eq!(store.keyring(&scope()).await, Ok(None), "a new scope should have no keyring");
    let refused = store.replace_keyring(&scope(), Some("first"), "second").await;
    assert_eq!(refused, Ok(false), "there is nothing to replace yet");
    assert_eq!(store.replace_keyring(&scope(), None, "first").await, Ok(true));
    let refused = store.replace_keyring(&scope(), None, "other").await;
    assert_eq!(refused, Ok(false), "the first keyring should stay");
    assert_eq!(store.replace_keyring(&scope(), Some("first"), "second").await, Ok(true));
    let refused = store.replace_keyring(&scope(), Some("first"), "third").await;
    assert_eq!(refused, Ok(false), "the first keyring is no longer there");
    assert_eq!(store.keyring(&scope()).await, Ok(Some("second".to_owned())));
}

pub(super) async fn keyrings_belong_to_their_scopes_and_outlast_restarts(stores: &impl StoreUnderTest) {
    let place = stores.place().await;
    let other = Scope::new(scope().stack, "another");
    let store = stores.open(&place).await;
    assert_eq!(store.replace_keyring(&scope(), None, "ours").await, Ok(true));
    assert_eq!(store.replace_keyring(&other, None, "{\"theirs\": \"\u{e9}\"}").await, Ok(true));
    drop(store);
    let store = stores.open(&place).await;
    assert_eq!(store.keyring(&scope()).await, Ok(Some("ours".to_owned())));
    assert_eq!(store.keyring(&other).await, Ok(Some("{\"theirs\": \"\u{e9}\"}".to_owned())));
    assert_eq!(store.scopes().await, Ok(vec![]), "a keyring alone is nothing held");
}
