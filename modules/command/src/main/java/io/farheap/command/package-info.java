/**
 * What every command of {@code farheap} stands on: how it is found, options that several have, progress, plots, and
 * memory servers as processes of this host. Whoever adds a command from an artifact of its own links this, and not the
 * command line.
 */
@NullMarked
package io.farheap.command;

import org.jspecify.annotations.NullMarked;
