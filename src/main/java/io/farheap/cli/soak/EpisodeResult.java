package io.farheap.cli.soak;

/** What an episode did. */
record EpisodeResult(long operations, long regionsMoved, long recoveries, long bytesLost) {
}
