/** Who opens something closes it, whatever goes wrong on the way. */
@NullMarked
package io.farheap.lifetime;

import org.jspecify.annotations.NullMarked;
