/**
 * Ends the resources that reach memory while the device may be busy with them: closing in stages, and trying again
 * until they have ended. Begin with {@link io.farheap.server.fence.Fence}.
 */
@NullMarked
package io.farheap.server.fence;

import org.jspecify.annotations.NullMarked;
