/**
 * Who opens something closes it, whatever goes wrong on the way. Agrona's {@code CloseHelper} is not enough for pinned
 * memory: where one close throws an error, such as for want of memory, it leaves the rest open.
 */
@NullMarked
package io.farheap.lifetime;

import org.jspecify.annotations.NullMarked;
