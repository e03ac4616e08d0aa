/**
 * {@code farheap manager} and {@code farheap top}: options, files of an operator, and what is shown. Begin with
 * {@link io.farheap.manager.service.commands.ManagerCommand}.
 */
@NullMarked
package io.farheap.manager.service.commands;

import org.jspecify.annotations.NullMarked;
