//! The person whom the engine asks when it cannot know: looks into the cloud and says.

use trueup_core::Address;
use trueup_engine::HandChange;
use trueup_state::Status;

use super::World;
use crate::invariants::Known;
use crate::log::Happened;
use crate::scenario::Operation;
use crate::tally::Ingredient;

impl World {
    /// Settles what only a person can: objects that stand in the way, and creates whose outcome is unknown, of blind types
    /// always, of others if deploys do not get any further: what is repeated with its own inputs may refer to what is
    /// gone since.
    pub(super) async fn ask_a_person(&mut self, at_their_end: bool) {
        let squatters: Vec<String> = self.log.ask(|watch| {
            let foreign =
                watch.live().filter(|(id, known)| known.made_for.is_none() && !watch.is_recorded(id));
            foreign.map(|(id, _)| id.clone()).collect()
        });
        // Nor does anything else find what was lost with the state and nobody declares.
        let declared: Vec<_> = self.sketch.items.keys().flat_map(|it| self.sketch.origins(*it)).collect();
        let lost: Vec<String> = self.log.ask(|watch| {
            // What was found after that and never changed since: nobody knows what it uses.
            let unknown = |known: &Known| known.found && at_their_end;
            let is_lost = |known: &Known| known.lost || known.orphaned || unknown(known);
            let mut lost: Vec<_> = watch.live().filter(|(_, known)| is_lost(known)).collect();
            lost.retain(|(_, known)| {
                let origin = known.made_for.as_ref().map(|(origin, _)| origin);
                // What is still not found stands in the way.
                let undeclared = origin.is_none_or(|origin| !declared.contains(origin));
                known.orphaned || undeclared || at_their_end
            });
            lost.into_iter().map(|(id, _)| id.clone()).collect()
        });
        for id in squatters.into_iter().chain(lost) {
            self.cloud.delete_by_hand(&id);
        }
        let is_blind = |name: &str| matches!(name, "s_stone" | "s_pebble");
        for (address, left) in self.unknown_creates(|name| at_their_end || is_blind(name)) {
            left.iter().for_each(|id| self.cloud.delete_by_hand(id));
            self.change_by_hand(HandChange::ResolveAbsent(address)).await;
        }
        let protected: Vec<_> = self.log.ask(|watch| {
            let protected = watch.records.values().filter(|record| record.meta.protect);
            protected.map(|record| record.address.clone()).collect()
        });
        for address in protected {
            self.change_by_hand(HandChange::Unprotect(address.into())).await;
        }
    }

    /// Settles creates that were interrupted and nobody finds, as soon as the run that says so has ended: looks, deletes
    /// what is there, and says that there is nothing. Only of commands: of requests to a server, nobody knows when they end.
    pub(super) async fn ask_a_hasty_person(&mut self) {
        let hastily = |type_name: &str| type_name == "s_pebble";
        let unknown = self.unknown_creates(hastily);
        for address in unknown.into_iter().map(|(address, _)| address) {
            // Settling the one before may have waited for commands that are at work on this one too.
            let now = self.unknown_creates(hastily).into_iter().find(|(it, _)| *it == address);
            let Some((address, left)) = now else { continue };
            self.log.count(Ingredient::Hasty);
            left.iter().for_each(|id| self.cloud.delete_by_hand(id));
            let change = HandChange::ResolveAbsent(address);
            let started = self.start(&[], &Operation::Refresh, 1);
            let shown = started.reconciler.preview_by_hand(&super::scope(), &change).await;
            let how = shown.as_ref().map_or_else(ToString::to_string, |_| "it can be settled".to_owned());
            self.log.push(Happened::Ended { process: started.process.number(), how });
            if shown.is_ok() {
                self.change_by_hand(change).await;
            }
        }
    }

    /// The creates of some types whose outcome is unknown, with the objects that came of them.
    fn unknown_creates(&self, of_type: impl Fn(&str) -> bool) -> Vec<(Address, Vec<String>)> {
        self.log.ask(|watch| {
            let records = watch.records.values().filter(|record| {
                of_type(record.address.type_name())
                    && record.current.as_ref().is_some_and(|current| {
                        current.object.is_none() && matches!(current.status, Status::Creating(_))
                    })
            });
            let left = |record: &trueup_state::Record| -> Vec<String> {
                let number = record.current.as_ref().map(|current| current.number);
                let own = watch.live().filter(|(_, known)| {
                    known.made_for.as_ref().is_some_and(|(origin, generation)| {
                        *origin == record.origin && Some(*generation) == number
                    })
                });
                own.map(|(id, _)| id.clone()).collect()
            };
            records.map(|record| (record.address.clone(), left(record))).collect()
        })
    }

    async fn change_by_hand(&mut self, change: HandChange) {
        self.log.count(Ingredient::Person);
        self.log.note(|| format!("by hand: {change:?}"));
        let started = self.start(&[], &Operation::Refresh, 1);
        let options = self.options(&Operation::Refresh, 1);
        let changed = started.reconciler.change_by_hand(&super::scope(), &change, &options).await;
        let how = changed.map_or_else(|error| error.to_string(), |_| "changed".to_owned());
        self.log.push(Happened::Ended { process: started.process.number(), how });
    }
}
