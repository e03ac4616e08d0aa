/**
 * A log in a directory: the files of segments, the state of the directory after a power cut, and the three engines that
 * read and write (threads, the polling thread, io_uring). Begin with {@link io.farheap.tier.file.FileLog}, then
 * {@link io.farheap.tier.file.FileHandle}.
 */
@NullMarked
package io.farheap.tier.file;

import org.jspecify.annotations.NullMarked;
