/**
 * The parts of one session, each of one thread: how it enters and leaves an operation, counts what it has accepted,
 * groups reads, and waits for records that are on the device. It stands on operations, which only access memory; begin
 * with {@link io.farheap.store.session.DeviceReads} and {@link io.farheap.store.session.SessionGate}.
 */
@NullMarked
package io.farheap.store.session;

import org.jspecify.annotations.NullMarked;
