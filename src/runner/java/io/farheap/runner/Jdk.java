package io.farheap.runner;

import java.nio.file.Path;

/** The JDK that the runner runs on, which is that of all it starts. */
final class Jdk {

    private Jdk() {}

    static String home() {
        return System.getProperty("java.home");
    }

    static String java() {
        return Path.of(home(), "bin", "java").toString();
    }
}
