/**
 * One log on several devices: which tier has which part, reads that go to the first tier that has theirs, copies to
 * tiers that lack a part, and tiers that are added and removed. It stands on handles of any device; begin with
 * {@link io.farheap.tier.tiered.TieredLog}, then {@link io.farheap.tier.tiered.TieredHandle}.
 */
@NullMarked
package io.farheap.tier.tiered;

import org.jspecify.annotations.NullMarked;
