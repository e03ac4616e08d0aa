/**
 * Ends the resources through which memory can be reached, even if the device is busy with them: closes them in stages,
 * and tries again until they have ended. Begin with {@link io.farheap.server.fence.Fence}.
 */
@NullMarked
package io.farheap.server.fence;

import org.jspecify.annotations.NullMarked;
