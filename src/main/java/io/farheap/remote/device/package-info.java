/**
 * An open RDMA device, and the objects that everything made on it shares: completion events, and the lifetime of its
 * context. It uses no other package of {@code remote}; begin with {@link io.farheap.remote.device.OpenDevice}.
 */
@NullMarked
package io.farheap.remote.device;

import org.jspecify.annotations.NullMarked;
