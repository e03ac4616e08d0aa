package io.farheap.command;

import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;

/**
 * A plot of a report: lines over numbers, or bars over categories. Written as a PNG of twice the size on screen, with a
 * footer that says which device and model the figures are of. Needs no display. One thread at a time.
 */
public final class Plot {

    static {
        // Set before the first use of a font: a display that is named but cannot be reached would fail a run at its
        // end.
        System.setProperty("java.awt.headless", "true");
    }

    private static final int WIDTH = 900;
    private static final int HEIGHT = 560;
    private static final int SCALE = 2;
    private static final int FOOTER_LINE = 16;
    private static final Font FOOTER_FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 11);
    private static final Color FOOTER_COLOR = new Color(0x555555);

    private final String name;
    private final @Nullable XYChart lines;
    private final @Nullable CategoryChart bars;
    /** The lowest of the values above 0. */
    private double lowest = Double.MAX_VALUE;

    private double highest;

    private Plot(String name, @Nullable XYChart lines, @Nullable CategoryChart bars) {
        this.name = name;
        this.lines = lines;
        this.bars = bars;
    }

    /**
     * A plot of lines over numbers.
     *
     * @param name of the file, without {@code .png}
     */
    public static Plot lines(String name, String title, String xAxis, String yAxis) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(xAxis)
                .yAxisTitle(yAxis)
                .build();
        chart.getStyler().setMarkerSize(5);
        style(chart.getStyler());
        return new Plot(name, chart, null);
    }

    /**
     * A plot of groups of bars over categories.
     *
     * @param name of the file, without {@code .png}
     */
    public static Plot bars(String name, String title, String xAxis, String yAxis) {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(xAxis)
                .yAxisTitle(yAxis)
                .build();
        chart.getStyler().setAvailableSpaceFill(0.8);
        // So that every category has its label: level labels, or labels closer than the usual hint, would be left out.
        chart.getStyler().setXAxisLabelRotation(30);
        chart.getStyler().setXAxisTickMarkSpacingHint(20);
        style(chart.getStyler());
        return new Plot(name, null, chart);
    }

    /** Makes the x axis logarithmic, for sizes and queue depths. */
    public Plot logarithmicX() {
        overNumbers().getStyler().setXAxisLogarithmic(true);
        return this;
    }

    /**
     * Makes the y axis logarithmic, over whole decades, which have the labels. A value of 0 or less, such as a time
     * below the clock's resolution, is drawn on the axis.
     */
    public Plot logarithmicY() {
        styler().setYAxisLogarithmic(true);
        return this;
    }

    /**
     * Adds a line.
     *
     * @param x ascending
     */
    public Plot series(String title, double[] x, double[] y) {
        Arrays.stream(y).forEach(this::include);
        overNumbers().addSeries(title, x, y);
        return this;
    }

    /** Adds one bar to each category, or none if the value is null; every series has the same categories. */
    public Plot series(String title, List<String> categories, List<Double> values) {
        values.stream().filter(Objects::nonNull).forEach(this::include);
        overCategories().addSeries(title, categories, values);
        return this;
    }

    /** The same, with a whisker of {@code spread} up and down from each value. */
    public Plot series(String title, List<String> categories, List<Double> values, List<Double> spread) {
        for (int i = 0; i < values.size(); i++) {
            include(values.get(i) - spread.get(i));
            include(values.get(i) + spread.get(i));
        }
        overCategories().addSeries(title, categories, values, spread);
        return this;
    }

    /** @param footer lines of text below the plot */
    public void write(Path directory, List<String> footer) throws IOException {
        if (styler().isYAxisLogarithmic()) {
            boundLogarithmicY();
        }
        int footerHeight = (footer.size() + 1) * FOOTER_LINE;
        BufferedImage image =
                new BufferedImage(SCALE * WIDTH, SCALE * (HEIGHT + footerHeight), BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        try {
            graphics.setColor(Color.WHITE);
            graphics.fillRect(0, 0, image.getWidth(), image.getHeight());
            graphics.scale(SCALE, SCALE);
            graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
            chart().paint(graphics, WIDTH, HEIGHT);
            graphics.setFont(FOOTER_FONT);
            graphics.setColor(FOOTER_COLOR);
            for (int line = 0; line < footer.size(); line++) {
                graphics.drawString(footer.get(line), FOOTER_LINE, HEIGHT + (line + 1) * FOOTER_LINE);
            }
        } finally {
            graphics.dispose();
        }
        Path file = directory.resolve(name + ".png");
        if (!ImageIO.write(image, "png", file.toFile())) {
            throw new IOException("this Java has no writer of PNG files for " + file);
        }
    }

    private void boundLogarithmicY() {
        // If no value is above 0, any axis.
        double least = highest > 0 ? Math.pow(10, Math.floor(Math.log10(lowest))) : 1;
        styler().setYAxisMin(least);
        styler().setYAxisMax(Math.max(10 * least, Math.pow(10, Math.ceil(Math.log10(highest)))));
        if (lines != null) {
            for (XYSeries line : lines.getSeriesCollection()) {
                line.replaceData(line.getXData(), raised(line.getYData(), least), line.getExtraValues());
            }
        } else {
            for (CategorySeries bar : overCategories().getSeriesCollection()) {
                double[] values = raised(bar.getYData(), least);
                bar.replaceData(List.copyOf(bar.getXData()), values, shortened(bar.getExtraValues(), values, least));
            }
        }
    }

    /** Raises values below the axis to it; missing values (NaN) stay missing. */
    private static double[] raised(double[] values, double least) {
        return Arrays.stream(values).map(value -> Math.max(value, least)).toArray();
    }

    /** Shortens whiskers that would go below the axis. */
    private static double @Nullable [] shortened(double @Nullable [] whiskers, double[] values, double least) {
        if (whiskers == null) {
            return null;
        }
        double[] shorter = whiskers.clone();
        for (int i = 0; i < shorter.length; i++) {
            shorter[i] = Math.min(shorter[i], values[i] - least);
        }
        return shorter;
    }

    private void include(double value) {
        if (value > 0) {
            lowest = Math.min(lowest, value);
            highest = Math.max(highest, value);
        }
    }

    private static void style(AxesChartStyler styler) {
        styler.setLegendPosition(Styler.LegendPosition.OutsideE);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setXAxisDecimalPattern("#,##0.###");
        styler.setYAxisDecimalPattern("#,##0.###");
    }

    private Chart<?, ?> chart() {
        return lines != null ? lines : overCategories();
    }

    private AxesChartStyler styler() {
        return lines != null ? lines.getStyler() : overCategories().getStyler();
    }

    private XYChart overNumbers() {
        if (lines == null) {
            throw new IllegalStateException("plot " + name + " has bars over categories, and no scale: use lines");
        }
        return lines;
    }

    private CategoryChart overCategories() {
        if (bars == null) {
            throw new IllegalStateException("plot " + name + " has lines over numbers, and no categories: use bars");
        }
        return bars;
    }
}
