/**
 * Messages as both ends of a pair of message rings write, copy and post them. It stands on no other room; begin with
 * {@link io.farheap.rpc.message.BatchFormat}.
 */
@NullMarked
package io.farheap.rpc.message;

import org.jspecify.annotations.NullMarked;
