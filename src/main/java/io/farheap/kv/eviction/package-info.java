/**
 * How a request that stores an object gets a block: a free one, or that of a victim which a policy chooses from a
 * sample of the table; and how sessions record accesses for the policy. It uses {@code blocks}, {@code space} and
 * {@code policy}; begin with {@link io.farheap.kv.eviction.SampledEviction}.
 */
@NullMarked
package io.farheap.kv.eviction;

import org.jspecify.annotations.NullMarked;
