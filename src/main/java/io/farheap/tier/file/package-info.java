/**
 * A log in a directory: segments' files, what is in the directory after a power cut, and the three engines that read
 * and write (threads, the polling thread, io_uring). Begin with {@link io.farheap.tier.file.FileLog}, then
 * {@link io.farheap.tier.file.FileHandle}.
 */
@NullMarked
package io.farheap.tier.file;

import org.jspecify.annotations.NullMarked;
