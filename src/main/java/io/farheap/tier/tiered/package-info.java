/**
 * One log on several devices: which tier has what, reads that go to the first that has it, copies to tiers that lack
 * it, and tiers that come and go. It stands on handles of any device; begin with
 * {@link io.farheap.tier.tiered.TieredLog}, then {@link io.farheap.tier.tiered.TieredHandle}.
 */
@NullMarked
package io.farheap.tier.tiered;

import org.jspecify.annotations.NullMarked;
