/**
 * The common parts of all devices' handles: request slots, registered memory, completions, and lists of open handles.
 * Requests do not allocate. Begin with {@link io.farheap.tier.handle.BaseHandle}.
 */
@NullMarked
package io.farheap.tier.handle;

import org.jspecify.annotations.NullMarked;
