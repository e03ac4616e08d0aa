/**
 * A key-value store over a hybrid log: the newest records in memory, where the youngest are updated in place, the rest
 * on a {@code tier} device (FASTER, SIGMOD 2018; Redy, section 8). Here belong records, the index that finds them, how
 * they are updated, read back and kept; where a log's bytes lie does not.
 *
 * <p>Between threads: marks (where the log's parts begin) are moved by the log's own thread alone, in two steps. It
 * stores the mark, passes {@link io.farheap.posix.AsymmetricFence#heavy}, and waits until every session that was inside
 * an operation has left it ({@code Epochs}). A session stores its epoch, then reads marks: so either it is seen, and
 * waited for, or it sees the new mark. What the old mark allowed is over then: no record below {@code readOnly} is
 * being changed, no frame below {@code head} is being read.
 */
@NullMarked
package io.farheap.store;

import org.jspecify.annotations.NullMarked;
