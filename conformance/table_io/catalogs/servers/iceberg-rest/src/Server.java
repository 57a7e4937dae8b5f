import java.net.InetSocketAddress;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;

/** Iceberg's REST catalog for tests, as its RESTCatalogServer starts it, but on the loopback interface only. */
public final class Server {
  private Server() {}

  /** Arguments: the port, the location of the warehouse, and the JDBC URI of the database that holds the catalog. */
  public static void main(String[] arguments) throws Exception {
    Map<String, String> properties =
        Map.of(
            CatalogProperties.CATALOG_IMPL, "org.apache.iceberg.jdbc.JdbcCatalog",
            CatalogProperties.WAREHOUSE_LOCATION, arguments[1],
            CatalogProperties.URI, arguments[2],
            "jdbc.schema-version", "V1");
    Catalog catalog = CatalogUtil.buildIcebergCatalog("rest_backend", properties, new Configuration());
    ServletContextHandler context = new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
    context.setContextPath("/");
    context.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
    org.eclipse.jetty.server.Server http =
        new org.eclipse.jetty.server.Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
    http.setHandler(context);
    http.start();
    http.join();
  }
}
