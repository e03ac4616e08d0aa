/**
 * The messages of a pair of message rings, as both ends write, copy and post them. It uses no other package of
 * {@code rpc}; begin with {@link io.farheap.rpc.message.BatchFormat}.
 */
@NullMarked
package io.farheap.rpc.message;

import org.jspecify.annotations.NullMarked;
