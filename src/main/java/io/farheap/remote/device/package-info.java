/**
 * An RDMA device that is open, and what all that is made on it shares: completion events, and when its context can be
 * closed. It stands on no other room; begin with {@link io.farheap.remote.device.OpenDevice}.
 */
@NullMarked
package io.farheap.remote.device;

import org.jspecify.annotations.NullMarked;
