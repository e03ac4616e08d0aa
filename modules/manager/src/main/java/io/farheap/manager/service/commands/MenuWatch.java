package io.farheap.manager.service.commands;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Watches a menu's file, which an operator may change while a manager runs. One thread. */
public final class MenuWatch {

    /** Null if there is no file. */
    private final @Nullable Path file;

    private final Consumer<String> menu;
    private String read = "";
    private String said = "";

    private MenuWatch(@Nullable Path file, Consumer<String> menu) {
        this.file = file;
        this.menu = menu;
    }

    /**
     * Reads the file for the first time.
     *
     * @param file null if there is none and never will be
     * @param menu takes the text, and throws {@link IllegalArgumentException} if it is invalid
     * @throws IllegalArgumentException if the file is invalid or cannot be read
     */
    public static MenuWatch of(@Nullable Path file, Consumer<String> menu) {
        MenuWatch watch = new MenuWatch(file, menu);
        watch.look(wrong -> {
            throw new IllegalArgumentException(wrong);
        });
        return watch;
    }

    /**
     * Reads the file again if it has changed; an invalid one changes nothing.
     *
     * @param complain receives what is wrong, once
     */
    public void look(Consumer<String> complain) {
        if (file == null) {
            return;
        }
        String wrong = "";
        try {
            String now = Files.readString(file);
            if (!now.equals(read)) {
                menu.accept(now);
                read = now;
            }
        } catch (IOException | RuntimeException e) {
            wrong = "menu " + file + " is not taken: " + e.getMessage();
        }
        if (!wrong.isEmpty() && !wrong.equals(said)) {
            complain.accept(wrong);
        }
        said = wrong;
    }
}
