//! `provider_meta`: what modules tell providers of themselves.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::Value;
use trueup_core::schema::Block as Schema;

use super::bodies::check_names;
use super::body::body_value;
use super::build::Builder;
use super::providers::Configs;
use super::resources::Located;
use crate::declare::ProviderMeta;
use crate::world::{Evaluation, Frame, Instance};

impl Builder<'_> {
    /// Lowers what one instance of a module tells providers of itself.
    pub(super) fn lower_metas(
        &mut self,
        evaluation: &Evaluation<'_>,
        instance: &Arc<Instance>,
        configs: &Configs,
    ) {
        let module = &instance.node.module;
        for (local, meta) in &module.settings.provider_metas {
            let provider = self.world.builtin.meant(module, local);
            let Some(schema) = configs.metas.get(&provider) else { continue };
            let told = self.meta(evaluation, instance, local, meta, schema);
            let metas = self.program.provider_metas.entry(instance.path.clone()).or_default();
            Arc::make_mut(metas).insert(provider, told);
        }
    }

    fn meta(
        &mut self,
        evaluation: &Evaluation<'_>,
        instance: &Arc<Instance>,
        local: &SmolStr,
        meta: &ProviderMeta,
        schema: &Schema,
    ) -> Value {
        let subject = format!("provider_meta of {local}");
        check_names(&meta.body, schema, &subject, &mut self.diagnostics);
        let frame = Frame::of_module(evaluation, instance);
        let (value, told) = evaluation.apart(|| body_value(&frame, &meta.body, schema, &[], meta.header));
        let checked = schema.check(&value, &subject);
        let mistakes = checked.diagnostics.into_iter().map(|it| it.located(meta.header));
        self.diagnostics.extend(told.into_iter().chain(mistakes));
        value
    }
}
