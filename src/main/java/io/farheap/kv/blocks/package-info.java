/**
 * A session's free blocks, its segments that are not cut yet, blocks whose fate is not known, and the mailbox by which
 * a session and the keeper exchange blocks. It uses {@code space} and {@code format}; begin with
 * {@link io.farheap.kv.blocks.BlockAllocator}, then {@link io.farheap.kv.blocks.Mailbox}.
 */
@NullMarked
package io.farheap.kv.blocks;

import org.jspecify.annotations.NullMarked;
