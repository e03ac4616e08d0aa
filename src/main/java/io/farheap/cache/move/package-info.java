/**
 * Which servers a cache uses, which of them has each region, and all that changes it: joining and leaving servers,
 * migration, growing, shrinking. It stands on {@code managed}, {@code objective}, {@code calls} and {@code session};
 * begin with {@link io.farheap.cache.move.Relocation}, then {@link io.farheap.cache.move.CacheMoves}.
 */
@NullMarked
package io.farheap.cache.move;

import org.jspecify.annotations.NullMarked;
