/**
 * How a request that stores finds room: free blocks, or victims that a sample of the table gives and a policy chooses,
 * and what sessions record of accesses for it. It stands on {@code blocks}, {@code space} and {@code policy}; begin
 * with {@link io.farheap.kv.eviction.SampledEviction}.
 */
@NullMarked
package io.farheap.kv.eviction;

import org.jspecify.annotations.NullMarked;
