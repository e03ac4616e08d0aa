package io.farheap.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlotTest {

    private static final List<String> FOOTER = List.of("device soft0 (soft), no model, 2 cores", "./farheap bench raw");

    @TempDir
    private Path directory;

    @Test
    void lines() throws IOException {
        Plot plot = Plot.lines("lines", "Latency", "bytes", "ns")
                .logarithmicX()
                .logarithmicY()
                .series("C", new double[] {8, 64, 4096}, new double[] {18, 22, 52})
                .series("Java", new double[] {8, 64, 4096}, new double[] {25, 30, 57});
        assertDrawn(plot, "lines.png");
    }

    @Test
    void bars() throws IOException {
        Plot plot = Plot.bars("bars", "Peers", "peer", "ns")
                .logarithmicY()
                .series("64 B", List.of("Farheap", "UCX"), List.of(80.0, 172.0), List.of(2.0, 5.0))
                .series("4 KB", List.of("Farheap", "UCX"), Arrays.asList(110.0, null));
        assertDrawn(plot, "bars.png");
    }

    @Test
    void whatTheClockCannotSeeStandsOnALogarithmicAxis() throws IOException {
        assertDrawn(
                Plot.lines("zero", "Latency", "bytes", "ns")
                        .logarithmicX()
                        .logarithmicY()
                        .series("read", new double[] {8, 64, 4096}, new double[] {0, 22, 52})
                        .series("write", new double[] {8, 64, 4096}, new double[] {0, 0, 0}),
                "zero.png");
        assertDrawn(
                Plot.lines("zeros", "Latency", "bytes", "ns")
                        .logarithmicY()
                        .series("write", new double[] {8, 64}, new double[] {0, 0}),
                "zeros.png");
        assertDrawn(
                Plot.bars("wide", "Peers", "peer", "ns")
                        .logarithmicY()
                        .series("64 B", List.of("Farheap", "UCX"), List.of(80.0, 0.0), List.of(200.0, 5.0))
                        .series("4 KB", List.of("Farheap", "UCX"), Arrays.asList(110.0, null)),
                "wide.png");
    }

    private void assertDrawn(Plot plot, String file) throws IOException {
        plot.write(directory, FOOTER);
        BufferedImage image = ImageIO.read(directory.resolve(file).toFile());
        assertTrue(image.getWidth() > 1000 && image.getHeight() > 1000);
        assertTrue(colors(image, 0, image.getHeight() - 2 * 3 * 16).size() > 10, "a chart");
        assertTrue(
                colors(image, image.getHeight() - 2 * 3 * 16, image.getHeight()).size() > 2, "a footer");
        assertEquals(0xFFFFFFFF, image.getRGB(0, 0));
    }

    private static Set<Integer> colors(BufferedImage image, int fromRow, int toRow) {
        Set<Integer> colors = new HashSet<>();
        for (int y = fromRow; y < toRow; y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                colors.add(image.getRGB(x, y));
            }
        }
        return colors;
    }
}
