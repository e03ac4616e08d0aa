/**
 * The owner that opens a resource closes it, whatever fails in between. Agrona's {@code CloseHelper} is not enough for
 * pinned memory: if one close throws an error, such as for lack of memory, it leaves the remaining resources open.
 */
@NullMarked
package io.farheap.lifetime;

import org.jspecify.annotations.NullMarked;
