# A database with its roles, tables and privileges.
#
# Needs the provider `pg` (`cargo run --bin trueup --features pg`) and a server, which PostgreSQL's own variables name:
# PGHOST, PGUSER, PGPASSWORD and others.

stack {
  name = "shop"
}

variable "app_password" {
  type      = string
  sensitive = true
}

resource "pg_role" "app" {
  name     = "app"
  login    = true
  password = var.app_password
}

resource "pg_role" "readers" {
  name = "readers"
}

resource "pg_database" "shop" {
  name  = "shop"
  owner = pg_role.app.name
}

resource "pg_schema" "app" {
  database = pg_database.shop.name
  name     = "app"
  owner    = pg_role.app.name
}

resource "pg_sql" "tables" {
  database = pg_schema.app.database
  name     = "tables"
  statements = [
    { up = "CREATE TABLE app.songs (title text)", down = "DROP TABLE app.songs" },
  ]
}

resource "pg_grant" "read" {
  database   = pg_sql.tables.database
  role       = pg_role.readers.name
  on         = "all_tables"
  schema     = pg_schema.app.name
  privileges = ["SELECT"]
}

resource "pg_default_privileges" "read" {
  database   = pg_schema.app.database
  owner      = pg_role.app.name
  role       = pg_role.readers.name
  schema     = pg_schema.app.name
  on         = "tables"
  privileges = ["SELECT"]
}
