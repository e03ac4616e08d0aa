/**
 * The state that sessions and the keeper share: which slab may be read and written, the stripe words that keep two
 * writes apart, the errors that were met at each server, and counts. Begin with
 * {@link io.farheap.resilience.table.SlabTable}, then {@link io.farheap.resilience.table.StripeWords}.
 */
@NullMarked
package io.farheap.resilience.table;

import org.jspecify.annotations.NullMarked;
