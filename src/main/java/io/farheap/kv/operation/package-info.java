/**
 * The steps of each kind of request: get, set, add, replace, compare-and-set, increment, touch, delete, move. This room
 * stands on {@code eviction}, {@code blocks} and {@code space}; begin with
 * {@link io.farheap.kv.operation.RequestSteps}, then {@link io.farheap.kv.operation.GetSteps}.
 */
@NullMarked
package io.farheap.kv.operation;

import org.jspecify.annotations.NullMarked;
