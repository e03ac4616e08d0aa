/** How polling threads idle while they find no work. */
@NullMarked
package io.farheap.thread.idle;

import org.jspecify.annotations.NullMarked;
