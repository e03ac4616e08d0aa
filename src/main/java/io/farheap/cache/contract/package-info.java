/**
 * What a request and its application have in common: how requests travel and end, the callbacks that say so, and what
 * is counted. It stands on no other room; begin with {@link io.farheap.cache.contract.Completion} and
 * {@link io.farheap.cache.contract.Status}.
 */
@NullMarked
package io.farheap.cache.contract;

import org.jspecify.annotations.NullMarked;
