/**
 * Connects a cache whose pages are coded over several servers to the coded space of {@code resilience}. The package
 * uses {@code session} and {@code order}; begin with {@link io.farheap.cache.coded.CodedPath}.
 */
@NullMarked
package io.farheap.cache.coded;

import org.jspecify.annotations.NullMarked;
