/**
 * How a map of the leased engine lies in memory, and what its clients and servers say to each other. Stands on
 * {@code format}; begin with {@link io.farheap.kv.leased.format.LeasedBlock} and
 * {@link io.farheap.kv.leased.format.LeasedCalls}.
 */
@NullMarked
package io.farheap.kv.leased.format;

import org.jspecify.annotations.NullMarked;
