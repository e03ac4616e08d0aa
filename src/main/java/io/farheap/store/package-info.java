/**
 * A key-value store over a hybrid log: the newest records in memory, where the youngest are updated in place, the rest
 * on a {@code tier} device (FASTER, SIGMOD 2018; Redy, section 8). Here belong records, the index that finds them, how
 * they are updated, read back and kept; storing a log's bytes does not.
 *
 * <p>Between threads: only the log's own thread moves {@code readOnly} and {@code head}, the addresses at which parts
 * of the log begin, each in two steps. It stores the new address, executes
 * {@link io.farheap.posix.AsymmetricFence#heavy}, and waits until every session that was inside an operation has left
 * it ({@code Epochs}). A session stores its epoch and then reads the addresses. So either the log's thread sees the
 * session and waits for it, or the session sees the new address. After the wait, no session changes a record in place
 * below {@code readOnly}, and none reads a frame below {@code head}.
 */
@NullMarked
package io.farheap.store;

import org.jspecify.annotations.NullMarked;
