/**
 * How what reaches memory is ended while the device may be busy with it: closing in stages, and tried again until it is
 * gone. Begin with {@link io.farheap.server.fence.Fence}.
 */
@NullMarked
package io.farheap.server.fence;

import org.jspecify.annotations.NullMarked;
