/**
 * What every command of {@code farheap} stands on: how it is found, options that several commands share, progress,
 * plots, and memory servers as processes of this host. An artifact that adds commands links this, and not the command
 * line.
 */
@NullMarked
package io.farheap.command;

import org.jspecify.annotations.NullMarked;
