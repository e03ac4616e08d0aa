/**
 * What handles of all devices have in common: requests by number, registered memory, callbacks, what is open. Nothing
 * here allocates for a request. Begin with {@link io.farheap.tier.handle.BaseHandle}.
 */
@NullMarked
package io.farheap.tier.handle;

import org.jspecify.annotations.NullMarked;
