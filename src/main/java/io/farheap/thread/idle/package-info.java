/** What polling threads do while they find nothing to do. */
@NullMarked
package io.farheap.thread.idle;

import org.jspecify.annotations.NullMarked;
