/**
 * The servers that a cache uses, the placement of its regions, and all that changes these: adding and leaving servers,
 * migration, growing, shrinking. The package uses {@code managed}, {@code objective}, {@code calls} and
 * {@code session}; begin with {@link io.farheap.cache.move.Relocation}, then {@link io.farheap.cache.move.CacheMoves}.
 */
@NullMarked
package io.farheap.cache.move;

import org.jspecify.annotations.NullMarked;
