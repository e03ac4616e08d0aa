/**
 * {@code farheap manager} and {@code farheap top}: options, an operator's files, and the output. Begin with
 * {@link io.farheap.manager.service.commands.ManagerCommand}.
 */
@NullMarked
package io.farheap.manager.service.commands;

import org.jspecify.annotations.NullMarked;
