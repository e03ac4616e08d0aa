/** The {@code farheap} command and those of its commands that belong to no other package. */
package io.farheap.cli;
