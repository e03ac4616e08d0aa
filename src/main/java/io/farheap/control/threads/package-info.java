/** The threads of a server that execute calls of the control plane. */
@NullMarked
package io.farheap.control.threads;

import org.jspecify.annotations.NullMarked;
