/** The threads of a server on which calls of the control plane are answered. */
@NullMarked
package io.farheap.control.threads;

import org.jspecify.annotations.NullMarked;
